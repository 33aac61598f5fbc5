Creator "somebody's editor"
graph [
  label "Two Islands"
  directed 1
  node [ id 0 label "North &amp; West" Latitude 55.0 Longitude -3.0 ]
  node [ id 1 label "South" Latitude 51.0 Longitude -3.0 graphics [ x 1 y 2 ] ]
  node [ id 2 label "Isle" ]
  node [ id 3 label "Rock" ]
  edge [ source 0 target 1 LinkLabel "10 Gbps" ]
  edge [ source 1 target 0 LinkLabel "1 Gbps" ]
  edge [ source 2 target 3 LinkLabel "E3" ]
]

"""What the views of a sweep show, as numbers: tables, maps, boxes, lines and marks, without Qt."""

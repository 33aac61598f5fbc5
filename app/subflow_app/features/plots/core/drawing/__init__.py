"""How the curves of a plot are drawn: in which bins and colours, and what stands for very many of them."""

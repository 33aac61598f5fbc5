"""The plots of a run: columns needed, numpy reduction, axis with unit, and their drawing."""

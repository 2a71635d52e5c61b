"""Line 3: the ports with the step traced, with the model traced, and scripted."""

from ..breadth.ports import ports
from ..proof import Line, Missing

LINE = Line(3, "Thirty ports: step traced, model traced, scripted", proof="capture")


@LINE.part("with the step traced: eager's bits", minutes=1)
def steps():
    return ports("ports-traced", "--traced")


@LINE.part("with the models traced, gradients taken outside: eager's bits", minutes=1)
def models():
    return ports("ports-models", "--models")


@LINE.part("scripted: eager's bits")
def scripted():
    raise Missing("not built: scripts of what the ports write")


@LINE.part("at most three traces each over 200 steps with a schedule")
def schedule():
    raise Missing("not built: graph_network makes a trace for each number of edges")

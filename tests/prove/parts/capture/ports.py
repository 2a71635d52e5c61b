"""Line 3: the ports with the step traced, with the model traced, and scripted."""

from ..breadth.ports import ports
from ..proof import ROOT, Line, require, run

LINE = Line(3, "Thirty ports: step traced, model traced, scripted", proof="capture")


@LINE.part("with the step traced: eager's bits", minutes=1)
def steps():
    return ports("ports-traced", "--traced")


@LINE.part("with the models traced, gradients taken outside: eager's bits", minutes=1)
def models():
    return ports("ports-models", "--models")


@LINE.part("scripted: eager's bits", minutes=1)
def scripted():
    return ports("ports-scripted", "--scripted")


SCHEDULE = ("--schedule", "--steps", "200")


@LINE.part("200 steps with a schedule, step traced: eager's bits, at most three traces", minutes=1)
def schedule():
    return ports("ports-schedule", "--traced", *SCHEDULE)


@LINE.part("the same of models traced", minutes=1)
def schedule_of_models():
    return ports("ports-schedule-models", "--models", *SCHEDULE)


@LINE.part("the demo, traced, with its model traced, and scripted: eager's losses", minutes=1)
def demo():
    done = run("demo-capture", ROOT / "dev", "demo", "--quiet", "--no-torch")
    same = done.text.count("the same losses, bit for bit")
    require(done.code == 0 and same == 3, f"{same} of 3 ways; whole log: {done.log}")
    return f"{same} ways"

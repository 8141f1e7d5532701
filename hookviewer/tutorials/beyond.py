"""Lessons on a trap of hooks, and on what is made with them."""

from __future__ import annotations

from hookviewer.kinds import Kind
from hookviewer.target_choice import TargetChoice
from hookviewer.tutorials.lesson import Lesson, Number
from hookviewer.tutorials.on_modules import net

IN_PLACE = Lesson(
    "in_place",
    "The trap of in-place layers",
    "output.clone()",
    "demo:fc_relu_fc?example=in_place",
    "values:[[1., 1., 1.]]",
    "relu1 writes into the tensor that fc1 has returned. A hook that keeps this tensor shows zeros that fc1 "
    "never made. Here fc1 has the values that it really returned, and a mark that says by whom they were "
    "overwritten.",
    "fc1",
    net("10.0, 20.0, 30.0, 40.0", "2.0", "nn.ReLU(inplace=True)")
    + """
kept, copied = [], []
fc1.register_forward_hook(lambda module, args, output: kept.append(output))
fc1.register_forward_hook(lambda module, args, output: copied.append(output.clone()))
model(x)

print(copied[0])
print(kept[0])
""",
    (Number("copied[0]", "fc1"), Number("kept[0]", "relu1")),
    ticks=("relu1", "fc2"),
)

GRAD_CAM = Lesson(
    "grad_cam",
    "Grad-CAM: two hooks and a sum",
    "a forward hook, and a tensor hook in it",
    "demo:mobilenet_v2",
    "demo:chelsea",
    "Each channel of the last block is weighted with the mean of its gradient; the sum shows where the "
    "evidence for the class is: on the face of the cat.",
    "features.18",
    """\
import hookviewer as hv

model = hv.open_model("demo:mobilenet_v2")
image = hv.open_input("demo:chelsea", model).args[0]
kept = {}


def note(module, args, output):
    kept["maps"] = output
    output.register_hook(lambda grad: kept.update(grad=grad))


handle = model.features[18].register_forward_hook(note)
model(image).max().backward()
handle.remove()

weights = kept["grad"].mean((2, 3), keepdim=True)
cam = (weights * kept["maps"]).sum(1).relu()

print(cam.shape)
print(cam.max())
""",
    (
        Number("cam", "features.18", Kind.ATTRIBUTION, leaf="grad_cam"),
        Number('kept["maps"]', "features.18"),
        Number('kept["grad"]', "features.18", Kind.GRAD_OUTPUT),
    ),
    target=TargetChoice("top"),
    ticks=("features.14",),
    shown="grad_cam",
)

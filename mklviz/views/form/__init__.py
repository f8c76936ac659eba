"""Forms: many controls in one component of the page, as a component costs a page the same whatever it shows.

A control is a `FormPart`: a small object with Params, which Python changes and watches like any other. `Form` sends
descriptions of its parts to the browser, where `form.js` draws them with the browser's own inputs.
"""

from mklviz.views.form.inputs import Checkbox, Chip, Choices, File, Segments, Select, Slider, Switch, TextBox, follow
from mklviz.views.form.parts import (
    Alert,
    Button,
    Code,
    Expander,
    Form,
    FormPart,
    FormRow,
    Group,
    Heading,
    Link,
    Menu,
    Note,
    ProgressBar,
    Reasons,
    TableHead,
)

__all__ = [
    "Alert", "Button", "Checkbox", "Chip", "Choices", "Code", "Expander", "File", "Form", "FormPart", "FormRow",
    "Group", "Heading", "Link", "Menu", "Note", "ProgressBar", "Reasons", "Segments", "Select", "Slider",
    "Switch", "TableHead", "TextBox", "follow",
]  # fmt: skip

"""What is announced of people, to apps above. Each is sent inside the transaction of the change:
a receiver that fails undoes it.
"""

from __future__ import annotations

from django.dispatch import Signal

# With `person`, the User as it is after the change.
person_deactivated = Signal()
person_erased = Signal()
# A role that may let somebody judge was taken away; they may still hold others.
role_withdrawn = Signal()

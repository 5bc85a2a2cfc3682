r"""Programs in files: the SDPA sparse format (``.dat-s``, and ``.dat-s.gz``).

A file holds a vector c and block-diagonal symmetric matrices :math:`F_0, \dots, F_m` of the pair

.. math::

    \min_x\ c^T x \ \text{ s.t. } \textstyle\sum_i x_i F_i - F_0 \succeq 0, \qquad\qquad
    \max_{Y \succeq 0}\ \langle F_0, Y\rangle \ \text{ s.t. } \langle F_i, Y\rangle = c_i.

The second problem is the one read: a PSD matrix per block (a non-negative vector where the block
is diagonal, which the file marks by a negative size), rows :math:`\langle F_i, Y\rangle = c_i`
labelled ``rows`` where no name is noted, and the objective stored as the minimisation of
:math:`\langle -F_0, Y\rangle`. Its dual slack is :math:`-F_0 + \sum_i y_i F_i`, so SDPA's x are
the multipliers of ``rows``, sign included, and both optimal values are as printed by SDPA.

References
----------
Fujisawa, Fukuda, Kojima, Nakata, Yamashita, "SDPA user's manual", section 10; Borchers, "SDPLIB
1.2, a library of semidefinite programming test problems", Optimization Methods and Software 11,
1999.
"""

from sdpdr.program.sdpa.reading import read_sdpa
from sdpdr.program.sdpa.writing import write_sdpa

__all__ = ["read_sdpa", "write_sdpa"]

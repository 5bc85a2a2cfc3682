"""Why a program fails: typed findings in the names of the user, proved where they can be."""

from sdpdr.solving.diagnosis.diagnose import diagnose as diagnose
from sdpdr.solving.diagnosis.finding import Diagnosis as Diagnosis
from sdpdr.solving.diagnosis.finding import Finding as Finding
from sdpdr.solving.diagnosis.finding import Kind as Kind
from sdpdr.solving.diagnosis.finding import Severity as Severity

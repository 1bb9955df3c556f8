"""Names that are loaded when first used have their types: were one ``Any``, its ignore here would be unused.

Checked by mypy, not run.
"""

from pysynthdp import Synthesizer, privacy
from pysynthdp.models import Norm
from pysynthdp.privacy import ZCDP, prices

price: str = prices.plug_in_mean  # type: ignore[assignment]
by_the_room: str = privacy.plug_in_mean  # type: ignore[assignment]
conversion: str = privacy.gdp_epsilon  # type: ignore[assignment]
guarantee: str = ZCDP  # type: ignore[assignment]
model: str = Norm  # type: ignore[assignment]
door: str = Synthesizer  # type: ignore[assignment]

#!/bin/sh
# A night in an agency: a survey without a guarantee, a register with one, and what happens when a run dies.
# Usage: sh night-run.sh [PERSONS IN THE SURVEY] [PERSONS IN THE REGISTER], in a copy of this folder.
# It needs pysynthdp with its extras "survey" and "sql"; night-run.log is what it printed.

PYTHON=${PYTHON:-python}
pysynthdp() { "$PYTHON" -m pysynthdp "$@"; }
say() { printf '\n$ %s\n' "$*"; "$@"; printf '(exit code %s)\n' "$?"; }

"$PYTHON" tables.py "${1:-5000}" "${2:-20000}" || exit 1
mkdir -p seeds scratch ledger
export REGISTER_URL="sqlite:///$PWD/register.db"
head -c 32 /dev/urandom | base64 > seeds/qol2025.seed

# here the register is a file of SQLite: a table in place of a query, and fewer rows in a copy
sed -e 's/^query_file = .*/table = "spells"/' -e 's/^k = .*/k = 20_000/' register.toml > tonight.toml

echo "# the survey"
say pysynthdp job check survey.toml
say pysynthdp job plan survey.toml
say pysynthdp job run survey.toml
say pysynthdp verify out/qol2025

echo "# the register, for which two releases of this price were not approved"
say pysynthdp ledger init ledger/register.db --source REG-2026Q1 --unit person --relation add_remove \
    --rho 0.4 --approval DRB-2026-031
say pysynthdp job plan tonight.toml

echo "# it is killed when its noised answers are on disk"
"$PYTHON" -c '
import os, signal, sys
from pysynthdp.jobs import running
running._Run.draw = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
from pysynthdp.cli.app import main
sys.argv[1:] = ["job", "run", "tonight.toml"]
main()'
printf '(exit code %s)\n' "$?"
say pysynthdp job report tonight.toml
say pysynthdp job run tonight.toml
say pysynthdp job resume tonight.toml
say pysynthdp job resume tonight.toml
say pysynthdp ledger show ledger/register.db --source REG-2026Q1
say pysynthdp verify release/reg2026q1
say pysynthdp ledger verify ledger/register.db --release release/reg2026q1

echo "# next quarter somebody starts it again: the budget does not suffice"
mv release/reg2026q1 release/reg2026q1-sent
say pysynthdp job run tonight.toml
say pysynthdp job purge tonight.toml --state --quarantine

* Fit one model to every synthetic copy and combine the fits.
* Run it in this folder: do analyse.do. Change the regression to your own; leave the rest.
*
* Rule partial_size_adjusted: T = f ubar + b/m.
* f ubar is the sampling variance of the confidential file and b/m what the synthesis adds,
* which holds for partial and complete synthesis, fitted and drawn parameters, and any size of
* copy.
* The makers of pysynthdp have not run this file; what it prints must equal what analyse.py
* prints.
version 14
clear all
set more off
local nests 1 2
local m = 2
local r = 1
scalar within = 1.0
scalar between = 0.5
scalar nested = 0.0
scalar floor_ = 0.0

tempname results
tempfile every
postfile `results' str80 term int nest double(q u) using "`every'"
forvalues copy = 1/2 {
    import delimited age sex health born pay using "synthetic_`copy'.csv", clear varnames(nonames) rowrange(2) encoding("utf-8")
    quietly replace pay = . if inlist(pay, -8)
    quietly regress pay age
    matrix B = e(b)
    matrix V = e(V)
    local terms : colfullnames B
    local nest : word `copy' of `nests'
    local column = 0
    foreach term of local terms {
        local ++column
        post `results' ("`term'") (`nest') (B[1, `column']) (V[`column', `column'])
    }
}
postclose `results'

use "`every'", clear
* a base level of a factor has no variance and is no estimate
drop if u == 0
bysort term: gen copies = _N
quietly count if copies != 2
if r(N) > 0 {
    display as error "the copies differ in their terms: a level is absent in one; merge rare levels"
    exit 459
}
collapse (mean) q u (sd) w = q, by(term nest)
replace w = cond(missing(w), 0, w^2)
collapse (mean) estimate = q u w (sd) b = q, by(term)
replace b = cond(missing(b), 0, b^2)
* T = max(within ubar + between B + nested W, floor ubar), t on matched degrees of freedom
generate double T = max(within * u + between * b + nested * w, floor_ * u)
generate double spread = (between * b)^2 / max(`m' - 1, 1) + (nested * w)^2 / max(`m' * (`r' - 1), 1)
* no interval where T is not positive: more copies are needed
generate double std_error = sqrt(T) if T > 0
generate double df = T^2 / spread if T > 0 & spread > 0
generate double width = cond(missing(df), invnormal(0.975), invttail(df, 0.025))
generate double p_value = cond(missing(df), 2 * normal(-abs(estimate) / std_error), 2 * ttail(df, abs(estimate) / std_error))
generate double conf_low = estimate - width * std_error
generate double conf_high = estimate + width * std_error
list term estimate std_error df p_value conf_low conf_high, noobs abbreviate(12)

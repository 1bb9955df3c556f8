* Encoding: UTF-8.
* Fit one model to every synthetic copy and combine the fits.
* Run it with this folder as working directory: CD 'folder'. INSERT FILE='analyse.sps'.
* Change the regression to your own; leave the rest.
* Rule noise_floored: T = max((1 + 1/m) b - ubar, ubar (f + (1 + f)/m)).
* Each copy redraws the privacy noise and the sampling around one noisy release, so b holds both
* and the copies' own sampling; ubar takes the last off, and never below the variance without
* noise.
* The makers of pysynthdp have not run this file; what it prints must equal what analyse.py
* prints.
* The copies are Parquet files; write each as CSV first, for instance in R:
* write.csv(arrow::read_parquet("synthetic_1.parquet"), "synthetic_1.csv", row.names = FALSE, na
* = "").
DATASET CLOSE ALL.
DEFINE !read (copy = !TOKENS(1))
GET DATA /TYPE=TXT /FILE=!QUOTE(!CONCAT('synthetic_', !copy, '.csv')) /ENCODING='UTF8'
  /DELIMITERS=',' /QUALIFIER='"' /ARRANGEMENT=DELIMITED /FIRSTCASE=2
  /VARIABLES=
    age F20.0
    sex A200.
COMPUTE copy_ = !copy.
EXECUTE.
!ENDDEFINE.
!read copy=1.
DATASET NAME every.
!read copy=2.
DATASET NAME next_.
DATASET ACTIVATE every.
ADD FILES /FILE=* /FILE=next_.
EXECUTE.
DATASET CLOSE next_.
COMPUTE one_ = 1.
SORT CASES BY copy_.
SPLIT FILE SEPARATE BY copy_.
DATASET DECLARE coefficients.
OMS /SELECT TABLES /IF COMMANDS=['Regression'] SUBTYPES=['Coefficients']
  /DESTINATION FORMAT=SAV NUMBERED=TableNumber_ OUTFILE='coefficients' VIEWER=NO
  /TAG='coefficients'.
REGRESSION /STATISTICS COEFF /ORIGIN /DEPENDENT age /METHOD=ENTER one_.
OMSEND TAG=['coefficients'].
SPLIT FILE OFF.

DATASET ACTIVATE coefficients.
* One table a copy, in the order of the copies; Var2 holds the term.
COMPUTE copy_ = 1.
IF ($CASENUM > 1) copy_ = LAG(copy_) + (TableNumber_ <> LAG(TableNumber_)).
RECODE copy_ (1=1) (2=2) INTO nest_.
COMPUTE u_ = Std.Error ** 2.
DATASET DECLARE nests.
AGGREGATE /OUTFILE='nests' /BREAK=Var2 nest_ /q_ = MEAN(B) /u_ = MEAN(u_) /w_ = SD(B).
DATASET ACTIVATE nests.
COMPUTE w_ = w_ ** 2.
RECODE w_ (SYSMIS = 0).
DATASET DECLARE pooled.
AGGREGATE /OUTFILE='pooled' /BREAK=Var2 /estimate = MEAN(q_) /ubar = MEAN(u_) /w = MEAN(w_) /b = SD(q_).
DATASET ACTIVATE pooled.
COMPUTE b = b ** 2.
RECODE b (SYSMIS = 0).
* T = max(within ubar + between B + nested W, floor ubar), t on matched degrees of freedom.
COMPUTE T = MAX(-1.0 * ubar + 1.5 * b + 0.0 * w, 2.0 * ubar).
COMPUTE spread = (1.5 * b) ** 2 / MAX(2 - 1, 1) + (0.0 * w) ** 2 / MAX(2 * (1 - 1), 1).
* No interval where T is not positive: more copies are needed.
DO IF T > 0.
  COMPUTE std_error = SQRT(T).
  DO IF spread > 0.
    COMPUTE df = T ** 2 / spread.
    COMPUTE width = IDF.T(0.975, df).
    COMPUTE p_value = 2 * (1 - CDF.T(ABS(estimate) / std_error, df)).
  ELSE.
    COMPUTE width = IDF.NORMAL(0.975, 0, 1).
    COMPUTE p_value = 2 * (1 - CDF.NORMAL(ABS(estimate) / std_error, 0, 1)).
  END IF.
  COMPUTE conf_low = estimate - width * std_error.
  COMPUTE conf_high = estimate + width * std_error.
END IF.
FORMATS estimate std_error df p_value conf_low conf_high (F12.6).
LIST VARIABLES=Var2 estimate std_error df p_value conf_low conf_high.

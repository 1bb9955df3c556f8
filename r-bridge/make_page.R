# The page that vignette("pysynthdp") opens, where no knitr or pandoc is. Run at the root of the checkout, with the R
# package installed from it, after each change of the vignette:  Rscript r-bridge/make_page.R
rmarkdown::render("r-bridge/vignettes/pysynthdp.Rmd", output_dir = "r-bridge/inst/doc", intermediates_dir = tempdir(),
                  quiet = TRUE)

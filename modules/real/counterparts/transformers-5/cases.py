import transformers_cases

transformers_cases.main()

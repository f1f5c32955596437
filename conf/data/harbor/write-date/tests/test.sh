#!/bin/bash
if [ "$(cat /app/a 2>/dev/null)" = "date" ]; then reward=1; else reward=0; fi
echo "{\"reward\": $reward}" > /logs/verifier/reward.json

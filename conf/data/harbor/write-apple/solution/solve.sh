#!/bin/bash
echo apple>a

#!/bin/bash
echo plum>a

#!/bin/bash
echo pear>a

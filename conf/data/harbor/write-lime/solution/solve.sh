#!/bin/bash
echo lime>a

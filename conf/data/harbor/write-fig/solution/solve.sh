#!/bin/bash
echo fig>a

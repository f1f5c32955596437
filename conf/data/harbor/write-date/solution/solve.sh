#!/bin/bash
echo date>a

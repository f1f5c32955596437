#!/bin/bash
echo mango>a

#!/bin/bash
echo kiwi>a

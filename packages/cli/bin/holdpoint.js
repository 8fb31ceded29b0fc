#!/usr/bin/env node
import '../dist/whole/main.js'

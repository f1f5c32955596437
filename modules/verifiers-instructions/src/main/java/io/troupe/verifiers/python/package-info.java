/**
 * Text operations as Python 3.11 defines them, for rules whose meaning is that of a Python program:
 * Unicode character classes, white space, case, regular expressions, JSON, literals and CSV.
 */
@NullMarked
package io.troupe.verifiers.python;

import org.jspecify.annotations.NullMarked;

/** What Troupe makes of input, asked by lines of JSON: one JVM for thousands of cases. */
@NullMarked
package io.troupe.real.probe;

import org.jspecify.annotations.NullMarked;

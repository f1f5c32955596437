/** Seeds for properties. */
@NullMarked
package io.troupe.testkit;

import org.jspecify.annotations.NullMarked;

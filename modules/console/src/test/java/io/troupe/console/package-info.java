@NullMarked
package io.troupe.console;

import org.jspecify.annotations.NullMarked;

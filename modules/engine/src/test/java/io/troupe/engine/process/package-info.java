@NullMarked
package io.troupe.engine.process;

import org.jspecify.annotations.NullMarked;

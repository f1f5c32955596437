@NullMarked
package io.troupe.engine.net;

import org.jspecify.annotations.NullMarked;

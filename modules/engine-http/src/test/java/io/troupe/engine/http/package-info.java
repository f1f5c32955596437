@NullMarked
package io.troupe.engine.http;

import org.jspecify.annotations.NullMarked;

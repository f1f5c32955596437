@NullMarked
package io.troupe.engine.http.serve;

import org.jspecify.annotations.NullMarked;

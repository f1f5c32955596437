/** The HTTP client of one inference server. */
@NullMarked
package io.troupe.engine.http.client;

import org.jspecify.annotations.NullMarked;

/** Requests to the console: who may ask, how answers look. */
@NullMarked
package io.troupe.console.http;

import org.jspecify.annotations.NullMarked;

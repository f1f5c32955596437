/** The ops console: a run's HTTP API, event stream and web page. */
@NullMarked
package io.troupe.console;

import org.jspecify.annotations.NullMarked;

@NullMarked
package io.troupe.app.console;

import org.jspecify.annotations.NullMarked;

/** Starting a run on many hosts over ssh, and looking after it. */
@NullMarked
package io.troupe.app.launch;

import org.jspecify.annotations.NullMarked;

/** Programs of the user that a run starts, and the summary that it leaves. */
@NullMarked
package io.troupe.run.hook;

import org.jspecify.annotations.NullMarked;

/** What a run's folder and its copy hold, and which request the copy needs next. Pure. */
@NullMarked
package io.troupe.sync.plan;

import org.jspecify.annotations.NullMarked;

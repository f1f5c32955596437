/** Child processes: their command lines, logs, identities, and the end of orphans. */
@NullMarked
package io.troupe.base.process;

import org.jspecify.annotations.NullMarked;

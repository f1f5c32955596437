/** Child processes of this program. */
@NullMarked
package io.troupe.base.process;

import org.jspecify.annotations.NullMarked;

/** Verifiers as a service: concurrent verifications with deadlines, so that none delays another. */
@NullMarked
package io.troupe.verifiers.pool;

import org.jspecify.annotations.NullMarked;

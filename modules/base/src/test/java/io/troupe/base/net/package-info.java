/** Tests of addresses. */
@NullMarked
package io.troupe.base.net;

import org.jspecify.annotations.NullMarked;

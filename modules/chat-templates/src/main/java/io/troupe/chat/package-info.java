/** Chat templates. */
@NullMarked
package io.troupe.chat;

import org.jspecify.annotations.NullMarked;

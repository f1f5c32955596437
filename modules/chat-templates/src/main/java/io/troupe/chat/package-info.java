/** Chat templates: from a conversation to the text of a prompt. */
@NullMarked
package io.troupe.chat;

import org.jspecify.annotations.NullMarked;

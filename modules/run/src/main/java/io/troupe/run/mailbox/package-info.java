/** Mailboxes that count and time messages. */
@NullMarked
package io.troupe.run.mailbox;

import org.jspecify.annotations.NullMarked;

/**
 * What a policy samples for one request: tokens, their probabilities and versions, and why it
 * ended.
 */
@NullMarked
package io.troupe.core.completion;

import org.jspecify.annotations.NullMarked;

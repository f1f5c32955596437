/** The JSON of OpenAI's and Anthropic's interfaces. */
@NullMarked
package io.troupe.gateway.wire;

import org.jspecify.annotations.NullMarked;

/** Requests for completions as clients write them, and their answers. */
@NullMarked
package io.troupe.serve.completion;

import org.jspecify.annotations.NullMarked;

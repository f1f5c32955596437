/** The Hugging Face hub: the files of its repositories. */
@NullMarked
package io.troupe.net.hub;

import org.jspecify.annotations.NullMarked;

/** Folders that the processes of a machine share: each is made once, and is whole or absent. */
@NullMarked
package io.troupe.base.cache;

import org.jspecify.annotations.NullMarked;
